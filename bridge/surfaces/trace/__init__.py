"""What a session did, in one HTML file: recorded by an observer, read again as JSON, replayed as a test."""
