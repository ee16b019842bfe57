"""Cross-validation: the candidates, their scores on folds, the rule that selects one, the refit."""
