"""What tests of programs share."""
