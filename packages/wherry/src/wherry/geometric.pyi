"""Stub of wherry.geometric, written by tools/stubs.py: where each public name comes from."""
from wherry_sparse.geometric import reindex_graph as reindex_graph
from wherry_sparse.geometric import reindex_heter_graph as reindex_heter_graph
from wherry_sparse.geometric import sample_neighbors as sample_neighbors
from wherry_sparse.geometric import segment_max as segment_max
from wherry_sparse.geometric import segment_mean as segment_mean
from wherry_sparse.geometric import segment_min as segment_min
from wherry_sparse.geometric import segment_sum as segment_sum
from wherry_sparse.geometric import send_u_recv as send_u_recv
from wherry_sparse.geometric import send_ue_recv as send_ue_recv
from wherry_sparse.geometric import send_uv as send_uv
from wherry_sparse.geometric import weighted_sample_neighbors as weighted_sample_neighbors
__all__: list[str]
