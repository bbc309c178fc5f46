"""Traces of sessions: one HTML file, exported as JSON or replayed as a test."""
