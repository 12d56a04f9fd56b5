"""Parameter servers: processes that keep parameters and rows of embeddings for workers, over ZeroMQ."""
