"""The moderators' desk: what moderators do beyond the contract (option `moderation_desk`)."""
