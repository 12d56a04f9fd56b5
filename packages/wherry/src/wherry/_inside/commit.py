"""The commit of the Paddle whose API this is, and what else its `version` has."""
commit = "8ce0de584c570589117e403322f3d1a0de6554e5"
istaged = True
with_mkl = "OFF"
