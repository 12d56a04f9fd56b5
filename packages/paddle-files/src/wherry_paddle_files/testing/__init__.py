"""What tests of model files share."""
