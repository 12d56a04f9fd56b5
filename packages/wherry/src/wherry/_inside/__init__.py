"""What Paddle keeps inside and libraries take from there, where no package of ours has it by itself. `wherry._doors` says by which path."""
