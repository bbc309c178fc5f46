"""Shares devices between concurrent jobs, on one machine or on a Ray cluster."""
