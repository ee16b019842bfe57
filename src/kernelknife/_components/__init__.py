"""Components without labels, between classes and between two tables, as least squares."""
