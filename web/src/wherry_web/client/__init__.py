"""What runs inside the page's Python: pure Python over Wherry, without NumPy."""
