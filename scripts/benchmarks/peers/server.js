// A chat as it is usually built on Socket.IO and MongoDB: `scripts/bench --peers` measures it.
// Its JSON has the fields that chat_aio's has, so that both send as many bytes.
'use strict';

const { createServer } = require('node:http');
const { MongoClient, ObjectId } = require('mongodb');
const { Server } = require('socket.io');

const UNSET = {
  role: 'user', editedAt: null, deletedAt: null, replyToMessageId: null,
  threadRootMessageId: null, alsoSendToMain: false, clientMessageId: null, forwardedFrom: null,
  metadata: {}, replyTo: null, reactions: [], mentions: [], threadSummary: null,
};

const shown = ({ _id, ...fields }) => ({ id: _id, ...fields });

async function main(url, name) {
  const client = await new MongoClient(url, { writeConcern: { w: 'majority' } }).connect();
  const messages = client.db(name).collection('messages');
  const counters = client.db(name).collection('counters');
  await messages.createIndex({ conversationId: 1, seq: 1 }, { unique: true });
  const http = createServer();
  const io = new Server(http);

  io.on('connection', (socket) => {
    const { userId, rooms } = socket.handshake.query;
    socket.join(rooms.split(','));

    socket.on('message', async ({ conversationId, body }, ack) => {
      const { seq } = await counters.findOneAndUpdate(
        { _id: conversationId }, { $inc: { seq: 1 } }, { upsert: true, returnDocument: 'after' },
      );
      const message = {
        _id: new ObjectId().toHexString(), conversationId, senderId: userId, body, seq,
        createdAt: new Date(), ...UNSET,
      };
      await messages.insertOne(message);
      const told = shown(message);
      io.to(conversationId).emit('message', told);
      ack({ message: told });
    });

    socket.on('history', async ({ conversationId, before = Infinity }, ack) => {
      const found = messages.find({ conversationId, seq: { $lt: before } });
      const page = await found.sort({ seq: -1 }).limit(50).toArray();
      ack({ messages: page.map(shown) });
    });
  });

  process.on('SIGTERM', () => process.exit(0));
  http.listen({ host: '127.0.0.1', port: 0, backlog: 2048 }, () => console.log(http.address().port));
}

main(...process.argv.slice(2));
