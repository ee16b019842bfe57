"""Selection from any number of rows: a few scans of them, and then products of columns.

source.py   what a source of rows offers, and how its blocks become arrays
sketch.py   the first scan: moments, values, levels and a sample, whatever the blocks are
sums.py     the second scan: products of the functions of all columns, by cell of rows
scan.py     a scan that can be watched and resumed
search.py   paths, folds, alphas and half-samples from the products alone
newton.py   losses other than the squared one: a scan per Newton step
"""
