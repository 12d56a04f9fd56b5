"""What tests of captured code share."""
