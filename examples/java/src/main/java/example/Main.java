package example;

import compactord.v1.Append.AppendMessagesRequest;
import compactord.v1.CompactionServiceGrpc;
import compactord.v1.MessageOuterClass.Dialect;
import compactord.v1.MessageOuterClass.ProviderJson;
import compactord.v1.SessionOuterClass.CreateSessionRequest;
import compactord.v1.SessionServiceGrpc;
import compactord.v1.View.GetLLMViewRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import java.util.concurrent.TimeUnit;

/** Creates a session, appends what a user said as OpenAI's chat has it, and prints the view. */
public final class Main {
  public static void main(String[] arguments) {
    var channel = Grpc.newChannelBuilder(arguments[0], InsecureChannelCredentials.create()).maxInboundMessageSize(64 << 20).build();
    var sessions = SessionServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
    var compactions = CompactionServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
    var said = ProviderJson.newBuilder().setDialect(Dialect.DIALECT_OPENAI_CHAT).setJson("{\"role\":\"user\",\"content\":\"Grüß Gott, Java!\"}");
    var id = sessions.createSession(CreateSessionRequest.getDefaultInstance()).getSession().getSessionId();
    sessions.appendMessages(AppendMessagesRequest.newBuilder().setSessionId(id).setProviderJson(said).build());
    var view = compactions.getLLMView(GetLLMViewRequest.newBuilder().setSessionId(id).setDialect(Dialect.DIALECT_OPENAI_CHAT).build());
    view.getMessagesJsonList().forEach(System.out::println);
    channel.shutdownNow();
  }
}
