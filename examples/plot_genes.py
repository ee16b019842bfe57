"""
Sixty samples, five hundred genes
=================================

The activity of 500 genes was measured in a tumor and in a normal tissue of each of 31 patients. The
data are simulated, so that the truth is known: three genes differ between the tissues. Each belongs
to a module of ten genes that are regulated together, and the other nine of its module are
correlated with it but do not differ themselves.
"""

# %%
# A data frame keeps the names of the genes.

import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score

from kernelknife import KnifeClassifier, knife_path
from kernelknife.datasets import make_genes

genes = make_genes(n_patients=31, n_genes=500, random_state=0)
X, y = pd.DataFrame(genes.data, columns=genes.feature_names), genes.target
truth = [genes.feature_names[j] for j in genes.relevant]
print(X.shape, "genes that differ:", ", ".join(truth))

# %%
# With few samples and many genes a linear kernel is enough. Its problem is convex, so the answer is
# the global minimum; the residual of the optimality conditions certifies this.

model = KnifeClassifier(kernel="linear", n_features_to_select=5).fit(X, y)
selected = pd.Series(model.weights_, X.columns)[model.get_support()]
print(selected.sort_values(ascending=False).round(3).to_string())
print(f"optimality residual {model.kkt_residual_:.0e}")

# %%
# The path shows all penalties at once: the three genes that differ are eliminated last.

path = knife_path(X, y, kernel="linear")
path.plot(sparsity=path.at(n_features=5).sparsity_)

# %%
# For an unbiased error the genes must be selected again in every training part, and both tissues of
# a patient must be in the same part, because they are not independent.

folds = StratifiedGroupKFold(5)
for name, classifier in {
    "five genes": KnifeClassifier(kernel="linear", n_features_to_select=5),
    "baseline": DummyClassifier(),
}.items():
    scores = cross_val_score(classifier, X, y, cv=folds, groups=genes.groups)
    print(f"{name}: misclassification rate {1 - scores.mean():.2f}")

# %%
# To do the same with measured data, use ``load_colon`` instead, which reads 2,000 genes of 62
# colon tissues from files that you have, or fetches them from OpenML.
