"""`wherry ecosystem LIBRARY`: does a library that was written for Paddle run here? `worker` tries its models, `libraries` knows some of them."""
