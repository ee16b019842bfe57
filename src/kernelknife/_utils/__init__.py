"""Small tools that every layer may use; none of them depends on kernels or on features."""
