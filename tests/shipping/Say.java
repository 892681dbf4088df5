import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Says records, one a line: level, thread, logger and message, with tabs between them, through logback or log4j2. */
public class Say {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[1]))) {
            String[] said = line.split("\t", 4);
            String message = said[3].replace("\\n", "\n").replace("\\t", "\t");
            Thread thread = new Thread(() -> say(args[0], said, message), said[1]);
            thread.start();
            thread.join();
        }
        LogManager.shutdown();
    }

    private static void say(String with, String[] said, String message) {
        if (with.equals("log4j2")) {
            LogManager.getLogger(said[2]).log(Level.valueOf(said[0]), message);
            return;
        }
        MDC.put("myid", "1");
        LoggerFactory.getLogger(said[2]).atLevel(org.slf4j.event.Level.valueOf(said[0])).log(message);
    }
}
