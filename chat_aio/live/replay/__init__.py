"""chat_aio.live.replay.replay"""
