"""What a fit is: a specification, data, an objective, a solver, a search, a fitted model.

Nothing in here sees an estimator.
"""
