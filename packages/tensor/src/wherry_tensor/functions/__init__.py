"""The functions of `paddle.*` on tensors: each reads its arguments, checks and explains; ops do the work."""
