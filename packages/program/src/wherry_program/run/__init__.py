"""Running programs: op by op, and planned."""
