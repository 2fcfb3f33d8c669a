"""A class: students answer the questions of lessons on their telephones, a teacher reveals.

``codes``, ``store`` and ``answers`` know nothing of Streamlit; the views draw them.
"""
