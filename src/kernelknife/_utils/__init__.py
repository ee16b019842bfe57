"""Small tools that every layer may use; they know nothing of kernels or of features."""
