"""Moderators' actions beyond the contract (option `moderation_tools`)."""
