"""the moderation tools: moderators' actions beyond the contract (option `moderation_tools`)."""
