"""Requests over HTTP/2 in the clear, with Python's h2: several at a time on one connection."""
import socket, time
import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions


class Answer:
    def __init__(self, patience):
        # After this number of octets the client resets the stream; None is never.
        self.patience = patience
        self.status, self.fields, self.content, self.ended, self.failure = 0, {}, bytearray(), 0.0, "no end"


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.settimeout(20)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="latin-1"))
        self.h2.initiate_connection()

    def exchange(self, requests):
        """Sends requests (method, path, fields, patience), and returns an answer for each; `failure` is None if it is
        complete."""
        answers = {}
        for method, path, fields, patience in requests:
            stream = self.h2.get_next_available_stream_id()
            head = [(":method", method), (":scheme", "http"), (":authority", fields["Host"]), (":path", path)]
            self.h2.send_headers(stream, head + [(name.lower(), value) for name, value in fields.items() if name != "Host"],
                                 end_stream=True)
            answers[stream] = Answer(patience)
        left = set(answers)
        try:
            self.socket.sendall(self.h2.data_to_send())
            while left:
                received = self.socket.recv(65536)
                if not received:
                    raise OSError("closed")
                for event in self.h2.receive_data(received):
                    self.take(event, answers, left)
                self.socket.sendall(self.h2.data_to_send())
        except (OSError, h2.exceptions.ProtocolError) as error:
            self.close()
            for stream in left:
                answers[stream].failure = type(error).__name__
        return list(answers.values())

    def take(self, event, answers, left):
        if isinstance(event, h2.events.ConnectionTerminated):
            raise OSError("terminated")
        stream = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.DataReceived) and event.flow_controlled_length:
            self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
        if stream not in left:
            return
        answer = answers[stream]
        if isinstance(event, h2.events.ResponseReceived):
            fields = dict(event.headers)
            answer.status, answer.ended = int(fields.pop(":status")), time.time()
            answer.fields = fields
        elif isinstance(event, h2.events.DataReceived):
            answer.content += event.data
            if answer.patience is not None and len(answer.content) > answer.patience:
                self.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
                answer.failure = "left"
                left.discard(stream)
        elif isinstance(event, h2.events.StreamEnded):
            answer.failure = None
            left.discard(stream)
        elif isinstance(event, h2.events.StreamReset):
            answer.failure = "StreamReset"
            left.discard(stream)

    def close(self):
        self.socket.close()
