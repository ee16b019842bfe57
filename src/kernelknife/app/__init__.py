"""The application: from a file or a data frame to a selection, a report and a saved model."""
