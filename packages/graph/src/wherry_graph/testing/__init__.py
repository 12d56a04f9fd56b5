"""What tests of programs and of their files share."""
