"""Reads operations on partitions into columns of facts."""
