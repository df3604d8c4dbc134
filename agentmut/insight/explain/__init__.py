"""Survivors explained: has behaviour changed, and which assertion would have noticed?"""
