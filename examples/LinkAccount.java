import static com.google.gson.FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * Links an account, uses it, and unlinks it, with Java 17 or later and Gson 2.10 or later.
 *
 * <pre>java -cp gson.jar examples/LinkAccount.java</pre>
 *
 * Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
 * {@code bin/latchkey demo} prints a secret and a code to try it with.
 */
public class LinkAccount {
  static final Map<String, String> ENV = System.getenv();
  static final String URL = ENV.getOrDefault("LATCHKEY_URL", "http://127.0.0.1:3000");
  static final String APPLICATION_SECRET = ENV.getOrDefault("LATCHKEY_APPLICATION_SECRET", "");
  static final HttpClient CLIENT = HttpClient.newHttpClient();
  static final Gson GSON =
      new GsonBuilder().setFieldNamingPolicy(LOWER_CASE_WITH_UNDERSCORES).create();

  record Account(String username, String displayName) {}

  /** A grant, an account or an error. Members that it does not have are null. */
  record Reply(
      String grantId, String grantSecret, String scope, Account account, String displayName,
      String errorCode, String errorDescription) {}

  /** An error of Latchkey. Branch on the code: it is stable. */
  static class LatchkeyException extends Exception {
    final String code, grantId;

    LatchkeyException(Reply reply) {
      super(reply.errorCode + ": " + reply.errorDescription);
      code = reply.errorCode;
      grantId = reply.grantId;
    }
  }

  /** Nothing was done, or the outcome is unknown. */
  static final Set<String> AGAIN = Set.of("rate_limited", "store_unavailable", "outcome_unknown");

  /** Tries up to four times. Every call may be repeated: no code is converted twice. */
  static Reply call(String method, String path, String secret, Map<String, String> body)
      throws LatchkeyException, IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(URL + path))
            .timeout(Duration.ofSeconds(10))
            .header("Authorization", "Bearer " + secret)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(GSON.toJson(body)))
            .build();
    for (int triesLeft = 3; ; triesLeft--) {
      long wait = 1;
      try {
        var response = CLIENT.send(request, BodyHandlers.ofString());
        var reply = GSON.fromJson(response.body(), Reply.class);
        if (response.statusCode() == 200) return reply;
        if (reply == null || reply.errorCode == null) throw new IOException();
        if (!AGAIN.contains(reply.errorCode) || triesLeft == 0) throw new LatchkeyException(reply);
        wait = response.headers().firstValueAsLong("Retry-After").orElse(1);
      } catch (IOException | JsonParseException error) {
        // No response, or one that is not from Latchkey.
        if (triesLeft == 0) throw new IOException("No response from " + URL, error);
      }
      Thread.sleep(1000 * wait);
    }
  }

  /** Converts a code into a grant. */
  static Reply link(String code) throws LatchkeyException, IOException, InterruptedException {
    try {
      return call("POST", "/oauth/convert", APPLICATION_SECRET, Map.of("code", code));
    } catch (LatchkeyException error) {
      if (!error.code.equals("code_already_used")) throw error;
      // Only this program converts the code, so the response with the secret was lost: get a new
      // secret. An application first checks whether it has stored this grant.
      var id = Map.of("grant_id", error.grantId);
      return call("POST", "/oauth/recover", APPLICATION_SECRET, id);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    try {
      // Store grantId and grantSecret in your own database. Encrypt the secret.
      var grant = link(ENV.getOrDefault("LATCHKEY_CODE", ""));
      System.out.printf("Linked %s for %s%n", grant.account.username, grant.scope);

      // A 401 here means that the grant was revoked: delete it and let the user link again.
      var account = call("GET", "/v1/account", grant.grantSecret, Map.of());
      System.out.printf("The account is %s%n", account.displayName);

      call("POST", "/oauth/revoke", APPLICATION_SECRET, Map.of("grant_id", grant.grantId));
      System.out.println("Unlinked");
    } catch (LatchkeyException error) {
      System.err.println(
          switch (error.code) {
            case "code_expired", "code_not_found", "grant_not_found", "grant_not_recoverable" ->
                error.code + ": let the user start again";
            case "credentials_missing", "credentials_invalid" ->
                error.code + ": check LATCHKEY_APPLICATION_SECRET";
            default -> error.getMessage();
          });
      System.exit(1);
    } catch (IOException error) {
      System.err.println(error.getMessage());
      System.exit(1);
    }
  }
}
