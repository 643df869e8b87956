import java.io.File;
import java.util.Arrays;
import okhttp3.Cache;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/**
 * Fresh hits of OkHttp: Peer ORIGIN FOLDER prints a line {@code store|µs of 1 KiB|µs of 1 MiB}. Each hit
 * reads the whole body; the first request fills the cache, and rounds before the five that count warm up
 * the virtual machine.
 */
final class Peer {
  public static void main(String[] arguments) throws Exception {
    OkHttpClient client =
        new OkHttpClient.Builder()
            .cache(new Cache(new File(arguments[1], "okhttp"), 1L << 30))
            .build();
    StringBuilder line = new StringBuilder("disk");
    for (int size : new int[] {1024, 1 << 20}) {
      Request request =
          new Request.Builder().url(arguments[0] + "/size/" + size + "/okhttp").build();
      get(client, request, size, false);
      int calls = size == 1024 ? 4000 : 300;
      for (int round = 0; round < 4; round++) {
        for (int call = 0; call < calls; call++) get(client, request, size, true);
      }
      double[] rounds = new double[5];
      for (int round = 0; round < rounds.length; round++) {
        long start = System.nanoTime();
        for (int call = 0; call < calls; call++) get(client, request, size, true);
        rounds[round] = (System.nanoTime() - start) / 1000.0 / calls;
      }
      Arrays.sort(rounds);
      line.append(String.format("|%.1f", rounds[2]));
    }
    System.out.println(line);
    client.dispatcher().executorService().shutdown();
    client.connectionPool().evictAll();
    System.exit(0);
  }

  private static void get(OkHttpClient client, Request request, int size, boolean isHit)
      throws Exception {
    try (Response response = client.newCall(request).execute()) {
      if (response.body().bytes().length != size || isHit != (response.networkResponse() == null)) {
        throw new IllegalStateException("not as expected: " + response);
      }
    }
  }
}
