package race;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.client.JdbcRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** An OAuth server by Spring Boot and its JDBC services. The rest is Spring Boot's own configuration. */
@SpringBootApplication
public class Server {
  public static void main(String[] args) {
    SpringApplication.run(Server.class, args);
  }

  /** Of the user's password and of the clients' secrets. The default strength takes long for each request. */
  @Bean
  PasswordEncoder passwordEncoder(Environment environment) {
    boolean isDefault = environment.getProperty("SLOW_HASH") != null;
    return isDefault ? new BCryptPasswordEncoder() : new BCryptPasswordEncoder(4);
  }

  @Bean
  UserDetailsService users(PasswordEncoder encoder, Environment environment) {
    String password = encoder.encode(environment.getRequiredProperty("USER_PASSWORD"));
    return new InMemoryUserDetailsManager(User.withUsername("ada").password(password).build());
  }

  @Bean
  RegisteredClientRepository clients(
      JdbcTemplate jdbc, PasswordEncoder encoder, Environment environment) throws Exception {
    createTables(jdbc, "client/oauth2-registered-client-schema.sql");
    createTables(jdbc, "oauth2-authorization-schema.sql");
    var clients = new JdbcRegisteredClientRepository(jdbc);
    for (String id : new String[] {"application", "other"}) {
      String secret = environment.getRequiredProperty("SECRET_OF_" + id);
      clients.save(
          RegisteredClient.withId(UUID.randomUUID().toString())
              .clientId(id)
              .clientSecret(encoder.encode(secret))
              .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
              .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
              .redirectUri(environment.getRequiredProperty("REDIRECT_URI"))
              .scope("openid")
              .clientSettings(ClientSettings.builder().requireProofKey(true).build())
              .build());
    }
    return clients;
  }

  @Bean
  OAuth2AuthorizationService authorizations(JdbcTemplate jdbc, RegisteredClientRepository clients) {
    return new JdbcOAuth2AuthorizationService(jdbc, clients);
  }

  /** Its schemas say to change `blob` to `text` for PostgreSQL. */
  private static void createTables(JdbcTemplate jdbc, String name) throws Exception {
    String folder = "org/springframework/security/oauth2/server/authorization/";
    String schema =
        new ClassPathResource(folder + name).getContentAsString(StandardCharsets.UTF_8);
    jdbc.execute(schema.replace(" blob", " text"));
  }
}
