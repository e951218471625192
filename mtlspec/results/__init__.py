"""What analyses, report and tracking have in common: models, their evaluations, tables, figures and findings."""
