import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
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
 * Links an account, uses it, and unlinks it, with Java 17 or later and Gson.
 *
 * <pre>java -cp gson.jar examples/LinkAccount.java</pre>
 *
 * Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
 * {@code npm run -s latchkey -- demo} prints a secret and a code to try it with.
 */
public class LinkAccount {
  static final Map<String, String> ENV = System.getenv();
  static final String URL = ENV.getOrDefault("LATCHKEY_URL", "http://127.0.0.1:3000");
  static final String APPLICATION_SECRET = ENV.getOrDefault("LATCHKEY_APPLICATION_SECRET", "");
  static final int TRIES = 4;
  static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** An answer other than 200. The code is stable, and the one to branch on. */
  static class LatchkeyException extends Exception {
    final String code;
    final String grantId;
    final long retryAfterSeconds;

    LatchkeyException(JsonObject body, long retryAfterSeconds) {
      super(body.get("error_description").getAsString());
      this.code = body.get("error_code").getAsString();
      this.grantId = body.has("grant_id") ? body.get("grant_id").getAsString() : null;
      this.retryAfterSeconds = retryAfterSeconds;
    }
  }

  static JsonObject send(String method, String path, String secret, JsonObject body)
      throws LatchkeyException, IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(URL + path))
            .timeout(Duration.ofSeconds(10))
            .header("Authorization", "Bearer " + secret)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body.toString()))
            .build();
    var answer = CLIENT.send(request, BodyHandlers.ofString());
    JsonObject object;
    try {
      object = JsonParser.parseString(answer.body()).getAsJsonObject();
    } catch (JsonParseException | IllegalStateException error) {
      throw new IOException("This is no answer of Latchkey", error);
    }
    if (answer.statusCode() == 200) return object;
    throw new LatchkeyException(object, answer.headers().firstValueAsLong("Retry-After").orElse(1));
  }

  /** Sends a request until there is an answer. Every call may be repeated: see link. */
  static JsonObject call(String method, String path, String secret, JsonObject body)
      throws LatchkeyException, IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return send(method, path, secret, body);
      } catch (LatchkeyException error) {
        // 429 and 503: nothing was done, and Retry-After says when to try again.
        if (!Set.of("rate_limited", "store_unavailable").contains(error.code)) throw error;
        if (attempt == TRIES) throw error;
        Thread.sleep(1000 * error.retryAfterSeconds);
      } catch (IOException error) {
        if (attempt == TRIES) throw error;
        Thread.sleep(1000);
      }
    }
  }

  /** Exchanges a code for a grant, whatever happens on the way. */
  static JsonObject link(String code) throws LatchkeyException, IOException, InterruptedException {
    while (true) {
      LatchkeyException lost;
      try {
        return call("POST", "/oauth/convert", APPLICATION_SECRET, object("code", code));
      } catch (LatchkeyException error) {
        if (!Set.of("code_already_used", "outcome_unknown").contains(error.code)) throw error;
        lost = error;
      }
      // The code became a grant (or may have), and the answer with its secret got lost: get a new
      // secret. An application that has stored a grant with this id just goes on with that.
      try {
        return call("POST", "/oauth/recover", APPLICATION_SECRET, object("grant_id", lost.grantId));
      } catch (LatchkeyException error) {
        if (!lost.code.equals("outcome_unknown")) throw error;
        if (!error.code.equals("grant_not_found")) throw error;
        // It did not become one: the code is as good as before.
        Thread.sleep(1000 * lost.retryAfterSeconds);
      }
    }
  }

  static JsonObject object(String name, String value) {
    var object = new JsonObject();
    object.addProperty(name, value);
    return object;
  }

  public static void main(String[] args) throws InterruptedException {
    try {
      // Keep grant_id and grant_secret in your own database, the secret encrypted.
      var grant = link(ENV.getOrDefault("LATCHKEY_CODE", ""));
      var username = grant.getAsJsonObject("account").get("username").getAsString();
      System.out.printf("Linked %s for %s%n", username, grant.get("scope").getAsString());

      // A 401 here says that the grant was revoked: forget it, and offer the user to link again.
      var secret = grant.get("grant_secret").getAsString();
      var account = call("GET", "/v1/account", secret, new JsonObject());
      var verified = account.get("verified").getAsBoolean() ? ", verified" : "";
      System.out.printf("The account is %s%s%n", account.get("display_name").getAsString(), verified);

      var grantId = object("grant_id", grant.get("grant_id").getAsString());
      call("POST", "/oauth/revoke", APPLICATION_SECRET, grantId);
      System.out.println("Unlinked");
    } catch (LatchkeyException error) {
      System.err.println(
          error.code
              + switch (error.code) {
                case "code_expired", "code_not_found", "grant_not_found", "grant_not_recoverable" ->
                    ": let the user start again.";
                case "credentials_missing", "credentials_invalid" ->
                    ": check LATCHKEY_APPLICATION_SECRET.";
                default -> ": " + error.getMessage();
              });
      System.exit(1);
    } catch (IOException error) {
      System.err.println("No answer from " + URL + ": " + error.getMessage());
      System.exit(1);
    }
  }
}
