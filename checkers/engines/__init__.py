"""Linearizability engines: is there a legal order of the operations that keeps real time?"""
