"""Reading: HTML to Markdown, and the main content of a page. Pure: text in, values out."""
