"""The rules of the model `log`, on columns of facts."""
