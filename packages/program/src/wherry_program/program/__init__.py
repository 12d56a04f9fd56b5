"""Programs: their representation, recording and gradients."""
