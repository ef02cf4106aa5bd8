import MemtraceTesting
import NIOCore
import NIOPosix
import Testing

/// A server and a client on the loopback, with event loops of their own.
@Suite(.memtrace) struct EchoTests {
  private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(data, promise: nil)
    }
  }

  private final class Collect: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let wanted: Int
    private let done: EventLoopPromise<String>
    private var text = ""

    init(_ wanted: Int, _ done: EventLoopPromise<String>) {
      (self.wanted, self.done) = (wanted, done)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      if text.utf8.count >= wanted { done.succeed(text) }
    }
  }

  @Test(arguments: [1, 10, 100]) func whatIsSentComesBack(lines: Int) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let server = try await ServerBootstrap(group: group)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Echo())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let text = String(repeating: "the same line again\n", count: lines)
    let done = group.next().makePromise(of: String.self)
    let client = try await ClientBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Collect(text.utf8.count, done))
        }
      }
      .connect(to: server.localAddress!).get()
    try await client.writeAndFlush(ByteBuffer(string: text))
    #expect(try await done.futureResult.get() == text)
    try await client.close()
    try await server.close()
    try await group.shutdownGracefully()
  }
}
