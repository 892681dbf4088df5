/* What clients of the SQL endpoint may say, and which tables they then read. The compiler that Spark itself uses for
   its generated code (Janino) compiles this when the endpoint starts: it stands between Spark's parser, analyzer and
   Thrift server, whose classes are the JVM's, and is asked by the threads of all clients. What is allowed: allowed.py.

   Janino knows neither lambdas nor the types of generics: hence the casts. */
package replay.serving;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.WeakHashMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.common.ServerUtils;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hive.service.cli.CLIService;
import org.apache.hive.service.cli.FetchOrientation;
import org.apache.hive.service.cli.FetchType;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.OperationHandle;
import org.apache.hive.service.cli.SessionHandle;
import org.apache.hive.service.cli.operation.Operation;
import org.apache.hive.service.cli.thrift.ThriftCLIService;
import org.apache.hive.service.rpc.thrift.TProtocolVersion;
import org.apache.hive.service.rpc.thrift.TRowSet;
import org.apache.hive.service.server.HiveServer2;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.AliasIdentifier;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.catalyst.analysis.EliminateView$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedInlineTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.SpecifiedWindowFrame;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Offset;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.hive.client.HiveClientImpl;
import org.apache.spark.sql.hive.thriftserver.HiveThriftServer2;
import org.apache.spark.sql.hive.thriftserver.SparkSQLCLIService;
import org.apache.spark.sql.hive.thriftserver.server.SparkSQLOperationManager;
import scala.Function1;
import scala.Option;
import scala.Product;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** The tables and views of one published run, analyzed once, and the relations that they read. */
final class Published {
    final String run;
    final Map plans = new HashMap();
    final Set relations = Collections.newSetFromMap(new IdentityHashMap());

    Published(String run, Map plans) {
        this.run = run;
        for (Iterator each = plans.entrySet().iterator(); each.hasNext();) {
            Map.Entry named = (Map.Entry) each.next();
            LogicalPlan plan = EliminateView$.MODULE$.apply((LogicalPlan) named.getValue());
            this.plans.put(named.getKey(), plan);
            new Relations(relations).walk(plan);
        }
    }
}

/** Refused: what is asked for is not served. */
final class Refused extends RuntimeException {
    Refused(String message) {
        super(message, null, false, false);
    }
}

/** A walk over all nodes of an analyzed plan. The query inside of a command is analyzed by itself, when that runs. */
abstract class Walk {
    abstract void meet(LogicalPlan node);

    final void walk(LogicalPlan plan) {
        meet(plan);
        if (plan instanceof Command) {
            return;
        }
        for (Iterator each = CollectionConverters.asJava(plan.children()).iterator(); each.hasNext();) {
            walk((LogicalPlan) each.next());
        }
        for (Iterator each = CollectionConverters.asJava(plan.innerChildren()).iterator(); each.hasNext();) {
            Object inner = each.next();
            if (inner instanceof LogicalPlan) {
                walk((LogicalPlan) inner);
            }
        }
        for (Iterator each = CollectionConverters.asJava(plan.expressions()).iterator(); each.hasNext();) {
            walk((Expression) each.next());
        }
    }

    private void walk(Expression expression) {
        if (expression instanceof SubqueryExpression) {
            walk((LogicalPlan) ((SubqueryExpression) expression).plan());
        }
        for (Iterator each = CollectionConverters.asJava(expression.children()).iterator(); each.hasNext();) {
            walk((Expression) each.next());
        }
    }
}

/**
 * How large a parsed statement is with every WITH where it is named: names may double each other. Spark puts them there
 * while it checks what it has analyzed, before it asks others.
 */
final class Size {
    static final long MOST = 5000;

    private Size() {
    }

    /** @param named the size of each WITH that can be named here, by its name in small letters */
    static long of(Object part, Map named) {
        if (part instanceof UnresolvedWith) {
            return with((UnresolvedWith) part, new HashMap(named));
        }
        if (part instanceof UnresolvedRelation) {
            Object size = named.get(((UnresolvedRelation) part).name().toLowerCase(Locale.ROOT).replace("`", ""));
            return size == null ? 1 : ((Long) size).longValue();
        }
        Iterator each = Collections.emptyIterator();
        if (part instanceof Product) {
            each = CollectionConverters.asJava(((Product) part).productIterator());
        } else if (part instanceof scala.collection.Iterable) {
            each = CollectionConverters.asJava(((scala.collection.Iterable) part).iterator());
        }
        long size = part instanceof LogicalPlan ? 1 : 0;
        while (each.hasNext()) {
            size = Math.min(MOST + 1, size + of(each.next(), named));
        }
        return size;
    }

    private static long with(UnresolvedWith node, Map named) {
        for (Iterator each = CollectionConverters.asJava(node.cteRelations()).iterator(); each.hasNext();) {
            Product relation = (Product) each.next();
            String name = ((String) relation.productElement(0)).toLowerCase(Locale.ROOT);
            named.put(name, Long.valueOf(of(relation.productElement(1), named)));
        }
        return of(node.child(), named);
    }
}

/** The relations over files that a plan reads, each the very object. */
final class Relations extends Walk {
    private final Set found;

    Relations(Set found) {
        this.found = found;
    }

    void meet(LogicalPlan node) {
        if (node instanceof LogicalRelation) {
            found.add(((LogicalRelation) node).relation());
        }
    }
}

/**
 * Works out what Spark has to know before a query begins: how far the frames of windows reach, {@code 1 PRECEDING} say,
 * and limits. Spark's own rule does it for all constants, and is left out here. The parser lets nothing but arithmetic
 * of numbers stand in frames; of limits see {@link Statement}.
 */
final class Numbers extends Rule {
    public org.apache.spark.sql.catalyst.trees.TreeNode apply(org.apache.spark.sql.catalyst.trees.TreeNode plan) {
        Bounds bounds = new Bounds();
        return ((LogicalPlan) ((LogicalPlan) plan).transformAllExpressions(bounds)).transformUp(bounds);
    }
}

/** Frames and limits with numbers for bounds. */
final class Bounds extends AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
        return node instanceof SpecifiedWindowFrame || node instanceof GlobalLimit || node instanceof LocalLimit
            || node instanceof Offset;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (node instanceof SpecifiedWindowFrame) {
            SpecifiedWindowFrame frame = (SpecifiedWindowFrame) node;
            return frame.copy(frame.frameType(), number(frame.lower()), number(frame.upper()));
        }
        if (node instanceof GlobalLimit) {
            return new GlobalLimit(number(((GlobalLimit) node).limitExpr()), ((GlobalLimit) node).child());
        }
        if (node instanceof LocalLimit) {
            return new LocalLimit(number(((LocalLimit) node).limitExpr()), ((LocalLimit) node).child());
        }
        if (node instanceof Offset) {
            return new Offset(number(((Offset) node).offsetExpr()), ((Offset) node).child());
        }
        return otherwise.apply(node);
    }

    private static Expression number(Expression bound) {
        boolean known = bound instanceof Literal || !bound.foldable();
        return known ? bound : Literal$.MODULE$.create(bound.eval(null), bound.dataType());
    }
}

/** What is allowed, and which run is published; all sessions share it. */
public final class Gate {
    final String schema;
    private final Map allowed;
    private final Set runs = Collections.newSetFromMap(new WeakHashMap());
    private final Map pinned = new WeakHashMap();
    private Published published;

    /** @param allowed for each kind of thing (statements, relations ...) the set of names that are allowed */
    public Gate(String schema, Map allowed) {
        this.schema = schema;
        this.allowed = new HashMap(allowed);
    }

    /** From now on queries are answered from these plans; those that have begun go on with theirs. */
    public synchronized void publish(String run, Map plans) {
        published = new Published(run, plans);
        runs.add(published);
    }

    /** From now on sessions that begin read the published names. Not this one: its rules stand when it looks first. */
    public void name(SparkSession session) {
        extensions(session).injectHintResolutionRule(new Always(new Names(this)));
    }

    /** From now on sessions that begin read nothing else. */
    public void guard(SparkSession session) {
        extensions(session).injectOptimizerRule(new Always(new Numbers()));
        extensions(session).injectCheckRule(new Always(new Check(this)));
    }

    /** Why an analyzed plan is refused, whatever the statement was that it comes from; empty: it is allowed. */
    public String refusal(LogicalPlan plan) {
        try {
            new Check(this).judge(plan);
            return "";
        } catch (Refused refused) {
            return refused.getMessage();
        }
    }

    private static SparkSessionExtensions extensions(SparkSession session) {
        org.apache.spark.sql.classic.SparkSession classic = (org.apache.spark.sql.classic.SparkSession) session;
        classic.sessionState();
        return classic.extensions();
    }

    /** Listen, as Spark's own start of the server does, but with the door in front of it from the first call on. */
    public HiveThriftServer2 listen(SparkSession session) throws Exception {
        HiveThriftServer2.systemExitOnError().set(false);
        Configuration settings = ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf();
        HiveClientImpl client = (HiveClientImpl) call("org.apache.spark.sql.hive.HiveUtils$", "newClientForExecution",
            new Class[] {SparkConf.class, Configuration.class},
            new Object[] {session.sparkContext().conf(), settings});
        ServerUtils.cleanUpScratchDir(client.conf());
        HiveThriftServer2 server = new HiveThriftServer2(session);
        server.init(client.conf());
        stand(server, session);
        call(HiveThriftServer2.class.getName() + "$", "createListenerAndUI",
            new Class[] {HiveThriftServer2.class, SparkContext.class},
            new Object[] {server, session.sparkContext()});
        server.start();
        return server;
    }

    /** Call a method of a Scala object that is not meant for Java. */
    private static Object call(String of, String name, Class[] types, Object[] given) throws Exception {
        Class companion = Class.forName(of);
        Method found = companion.getDeclaredMethod(name, types);
        found.setAccessible(true);
        return found.invoke(companion.getField("MODULE$").get(null), given);
    }

    /** Put the door where Thrift's calls arrive; it shares all that Spark's service, which it replaces, consists of. */
    private void stand(HiveServer2 server, SparkSession session) throws Exception {
        ThriftCLIService thrift = (ThriftCLIService) field(HiveServer2.class, "thriftCLIService").get(server);
        Field service = field(ThriftCLIService.class, "cliService");
        Door door = new Door(server, session, this);
        for (Class of = SparkSQLCLIService.class; of != Object.class; of = of.getSuperclass()) {
            Field[] fields = of.getDeclaredFields();
            for (int i = 0; i < fields.length; i++) {
                if (!Modifier.isStatic(fields[i].getModifiers())) {
                    fields[i].setAccessible(true);
                    fields[i].set(door, fields[i].get(service.get(thrift)));
                }
            }
        }
        service.set(thrift, door);
    }

    private static Field field(Class of, String name) throws Exception {
        Field found = of.getDeclaredField(name);
        found.setAccessible(true);
        return found;
    }

    boolean allows(String kind, String name) {
        return ((Collection) allowed.get(kind)).contains(name);
    }

    /** The run that an analysis reads: what was published when its first name was looked up. */
    synchronized Published pinned() {
        Option tracker = QueryPlanningTracker.get();
        if (tracker.isEmpty()) {
            return published;
        }
        Published found = (Published) pinned.get(tracker.get());
        if (found == null) {
            found = published;
            pinned.put(tracker.get(), found);
        }
        return found;
    }

    /**
     * Whether what is analyzed is a client's statement, and not what Spark and Delta ask themselves in the client's
     * session while they answer it, of Delta's log say.
     */
    boolean asked() {
        Option tracker = QueryPlanningTracker.get();
        if (tracker.isEmpty()) {
            return false;
        }
        scala.collection.immutable.Map done = ((QueryPlanningTracker) tracker.get()).phases();
        return done.contains(QueryPlanningTracker.PARSING()) && !done.contains(QueryPlanningTracker.ANALYSIS());
    }

    /** The run that a relation belongs to; null: none that is published here. */
    synchronized Published runOf(Object relation) {
        for (Iterator each = runs.iterator(); each.hasNext();) {
            Published found = (Published) each.next();
            if (found.relations.contains(relation)) {
                return found;
            }
        }
        return null;
    }

    /** Whether these parts, if any, name the schema that is served: by its name, or by that of clients' default. */
    boolean isSchema(List parts) {
        int last = parts.size() - 1;
        return last < 0 || (last == 0 || last == 1 && "spark_catalog".equalsIgnoreCase((String) parts.get(0)))
            && (schema.equalsIgnoreCase((String) parts.get(last))
                || "default".equalsIgnoreCase((String) parts.get(last)));
    }

    /** The last part of a name of something in the schema that is served, in small letters; null: it is elsewhere. */
    String served(List parts) {
        int last = parts.size() - 1;
        boolean here = last == 0 || isSchema(parts.subList(0, last));
        return here ? ((String) parts.get(last)).toLowerCase(Locale.ROOT) : null;
    }
}

/** What every session gets, whichever it is. */
final class Always extends AbstractFunction1 {
    private final Object given;

    Always(Object given) {
        this.given = given;
    }

    public Object apply(Object session) {
        return given;
    }
}

/** Reads the names of published tables and views, once those of a query's own WITH are known, as one run's plans. */
final class Names extends Rule {
    private final Gate gate;

    Names(Gate gate) {
        this.gate = gate;
    }

    public org.apache.spark.sql.catalyst.trees.TreeNode apply(org.apache.spark.sql.catalyst.trees.TreeNode plan) {
        return rewritten((LogicalPlan) plan, gate.pinned());
    }

    LogicalPlan rewritten(LogicalPlan plan, Published run) {
        return plan.resolveOperatorsUp(new Rewriting(this, run));
    }

    Object node(LogicalPlan node, Published run) {
        if (node instanceof UnresolvedRelation) {
            return relation((UnresolvedRelation) node, run);
        }
        if (node instanceof UnresolvedNamespace) {
            UnresolvedNamespace name = (UnresolvedNamespace) node;
            List parts = CollectionConverters.asJava(name.multipartIdentifier());
            return gate.isSchema(parts) ? name.copy(here(null), name.copy$default$2()) : name;
        }
        if (node instanceof UnresolvedTableOrView) {
            UnresolvedTableOrView name = (UnresolvedTableOrView) node;
            String table = gate.served(CollectionConverters.asJava(name.multipartIdentifier()));
            return table == null ? name : name.copy(here(table), name.copy$default$2(), name.copy$default$3());
        }
        return node.transformExpressionsUp(new Rewriting(this, run));
    }

    private Object relation(UnresolvedRelation node, Published run) {
        String name = gate.served(CollectionConverters.asJava(node.multipartIdentifier()));
        LogicalPlan plan = name == null ? null : (LogicalPlan) run.plans.get(name);
        return plan == null ? node : new SubqueryAlias(new AliasIdentifier(name, here(null)), plan);
    }

    /** The name of something in the served schema, or of that. */
    private Seq here(String name) {
        List parts = new java.util.ArrayList();
        parts.add("spark_catalog");
        parts.add(gate.schema);
        if (name != null) {
            parts.add(name);
        }
        return CollectionConverters.asScala(parts).toSeq();
    }
}

/** One pass of {@link Names} over nodes, and over the queries inside of expressions. */
final class Rewriting extends AbstractPartialFunction {
    private final Names names;
    private final Published run;

    Rewriting(Names names, Published run) {
        this.names = names;
        this.run = run;
    }

    public boolean isDefinedAt(Object node) {
        return true;
    }

    public Object applyOrElse(Object node, Function1 otherwise) {
        if (node instanceof LogicalPlan) {
            return names.node((LogicalPlan) node, run);
        }
        if (node instanceof SubqueryExpression) {
            SubqueryExpression inner = (SubqueryExpression) node;
            return inner.withNewPlan(names.rewritten((LogicalPlan) inner.plan(), run));
        }
        return node;
    }
}

/** Refuses plans that, after all names are looked up, read anything but the tables of one run, or do more than read. */
final class Check extends AbstractFunction1 {
    private final Gate gate;

    Check(Gate gate) {
        this.gate = gate;
    }

    public Object apply(Object plan) {
        if (gate.asked()) {
            judge((LogicalPlan) plan);
        }
        return BoxedUnit.UNIT;
    }

    void judge(LogicalPlan plan) {
        Set relations = Collections.newSetFromMap(new IdentityHashMap());
        new Relations(relations).walk(plan);
        Set runs = new LinkedHashSet();
        for (Iterator each = relations.iterator(); each.hasNext();) {
            Published run = gate.runOf(each.next());
            if (run == null) {
                throw new Refused("refused: only the published tables and views are read here");
            }
            runs.add(run);
        }
        if (runs.size() > 1) {
            throw new Refused("a newer run was published this moment: ask again");
        }
        new Operators(gate).walk(plan);
    }
}

/** Refuses what an analyzed plan may not do. */
final class Operators extends Walk {
    private final Gate gate;

    Operators(Gate gate) {
        this.gate = gate;
    }

    void meet(LogicalPlan node) {
        String name = node.getClass().getSimpleName().replace("$", "");
        if (!gate.allows("operators", name)) {
            throw new Refused("refused: this endpoint answers questions about what is published only (" + name + ")");
        }
    }
}

/** Refuses what a statement may not say, before any of its names is looked up. */
final class Statement {
    private final Gate gate;

    /** What is answered instead; null: what was asked. */
    String instead;

    Statement(Gate gate) {
        this.gate = gate;
    }

    /** Go through all that a parsed statement holds, whatever its nodes call their children: windows' maps, say. */
    void judge(Object part) {
        if (part instanceof LogicalPlan) {
            node((LogicalPlan) part);
        } else if (part instanceof Expression) {
            expression((Expression) part);
        }
        if (part instanceof Product) {
            Iterator each = CollectionConverters.asJava(((Product) part).productIterator());
            while (each.hasNext()) {
                judge(each.next());
            }
        } else if (part instanceof scala.collection.Iterable) {
            Iterator each = CollectionConverters.asJava(((scala.collection.Iterable) part).iterator());
            while (each.hasNext()) {
                judge(each.next());
            }
        }
    }

    private void node(LogicalPlan node) {
        String kind = node.getClass().getSimpleName().replace("$", "");
        if (!gate.allows("statements", kind)) {
            throw new Refused("refused: this endpoint answers questions about what is published only (" + kind + ")");
        }
        if (node instanceof UnresolvedRelation) {
            UnresolvedRelation relation = (UnresolvedRelation) node;
            table(CollectionConverters.asJava(relation.multipartIdentifier()));
            if (!relation.options().isEmpty() || relation.isStreaming()) {
                throw new Refused("refused: tables are read here without options");
            }
        } else if (node instanceof UnresolvedTableOrView) {
            table(CollectionConverters.asJava(((UnresolvedTableOrView) node).multipartIdentifier()));
        } else if (node instanceof UnresolvedNamespace) {
            List parts = CollectionConverters.asJava(((UnresolvedNamespace) node).multipartIdentifier());
            if (!gate.isSchema(parts)) {
                throw new Refused("refused: the only schema here is " + gate.schema);
            }
        } else if (node instanceof UnresolvedTableValuedFunction) {
            List parts = CollectionConverters.asJava(((UnresolvedTableValuedFunction) node).name());
            function("table functions", gate.served(parts), parts);
            if ("range".equals(gate.served(parts))) {
                constants(node);
            }
        } else if (node instanceof SetCommand) {
            setting((SetCommand) node);
        } else if (node instanceof UnresolvedInlineTable || node instanceof GlobalLimit || node instanceof LocalLimit
                || node instanceof Offset) {
            constants(node);
        }
    }

    /** What Spark works out while it plans a query, in the process that answers everybody, has to be little work. */
    private void constants(LogicalPlan node) {
        for (Iterator each = CollectionConverters.asJava(node.expressions()).iterator(); each.hasNext();) {
            constant((Expression) each.next());
        }
    }

    private void constant(Expression expression) {
        if (expression instanceof UnresolvedFunction) {
            List parts = CollectionConverters.asJava(((UnresolvedFunction) expression).nameParts());
            String name = (String) parts.get(parts.size() - 1);
            if (!gate.allows("constants", name.toLowerCase(Locale.ROOT))) {
                throw new Refused("refused: " + name + " is not allowed in VALUES, LIMIT, OFFSET and range: SELECT it");
            }
        }
        for (Iterator each = CollectionConverters.asJava(expression.children()).iterator(); each.hasNext();) {
            constant((Expression) each.next());
        }
    }

    private void table(List parts) {
        if (gate.served(parts) == null) {
            throw new Refused("refused: " + String.join(".", parts) + " is not in the schema " + gate.schema);
        }
    }

    private void expression(Expression expression) {
        if (expression instanceof UnresolvedFunction) {
            List parts = CollectionConverters.asJava(((UnresolvedFunction) expression).nameParts());
            function("functions", parts.size() == 1 ? (String) parts.get(0) : null, parts);
        } else if (expression instanceof UnresolvedGenerator) {
            String name = ((UnresolvedGenerator) expression).name().unquotedString();
            function("functions", name, Collections.singletonList(name));
        } else if (!gate.allows("expressions", expression.getClass().getSimpleName().replace("$", ""))) {
            throw new Refused("refused: " + expression.getClass().getSimpleName() + " is not allowed here");
        }
    }

    private void function(String kind, String name, List parts) {
        if (name == null || !gate.allows(kind, name.toLowerCase(Locale.ROOT))) {
            throw new Refused("refused: the function " + String.join(".", parts) + " is not allowed here");
        }
    }

    /** Drivers set and list settings of Hive when they connect: they are answered, with the one that there is. */
    private void setting(SetCommand node) {
        String key = node.kv().isEmpty() ? "" : (String) ((Tuple2) node.kv().get())._1();
        if (key.isEmpty() || "-v".equals(key) || key.startsWith("hive.")) {
            instead = "SELECT 'spark.sql.session.timeZone' AS key, current_timezone() AS value";
        } else if (!gate.allows("settings", key)) {
            throw new Refused("refused: " + key + " is not set here");
        }
    }
}

/** The service that answers Thrift's calls, with a look at each before Spark has it. */
final class Door extends SparkSQLCLIService {
    private static final int LONGEST_STATEMENT = 100000;
    private static final int DEEPEST_STATEMENT = 200;
    private static final long FETCHED_BYTES = 16 << 20;
    private static final long FETCHED_ROWS = 5000;
    private static final int REMEMBERED = 10000;
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Gate gate;
    private final Map portions = Collections.synchronizedMap(new HashMap());
    private final Timer clock = new Timer("longest answers", true);
    private final long longestSeconds;

    Door(HiveServer2 server, SparkSession session, Gate gate) {
        super(server, session);
        this.gate = gate;
        longestSeconds = Long.parseLong(session.sparkContext().getConf().get("spark.sql.thriftServer.queryTimeout", "0"));
    }

    /** Rows are worked out when they are fetched, which Spark's own time-out of statements does not see. */
    private class Ending extends TimerTask {
        private final OperationHandle handle;
        private volatile boolean over = false;

        Ending(OperationHandle handle) {
            this.handle = handle;
        }

        public void run() {
            over = true;
            try {
                closeOperation(handle);
            } catch (HiveSQLException gone) {
                // Its client has closed it.
            }
        }
    }

    public SessionHandle openSession(TProtocolVersion protocol, String user, String password, String address, Map given)
            throws HiveSQLException {
        return opened(super.openSession(protocol, user, password, address, harmless(given)));
    }

    public SessionHandle openSession(TProtocolVersion protocol, String user, String password, Map given)
            throws HiveSQLException {
        return opened(super.openSession(protocol, user, password, harmless(given)));
    }

    public SessionHandle openSession(String user, String password, Map given) throws HiveSQLException {
        return opened(super.openSession(user, password, harmless(given)));
    }

    public SessionHandle openSessionWithImpersonation(TProtocolVersion protocol, String user, String password,
            String address, Map given, String token) throws HiveSQLException {
        return opened(super.openSessionWithImpersonation(protocol, user, password, address, harmless(given), token));
    }

    public SessionHandle openSessionWithImpersonation(TProtocolVersion protocol, String user, String password,
            Map given, String token) throws HiveSQLException {
        return opened(super.openSessionWithImpersonation(protocol, user, password, harmless(given), token));
    }

    public SessionHandle openSessionWithImpersonation(String user, String password, Map given, String token)
            throws HiveSQLException {
        return opened(super.openSessionWithImpersonation(user, password, harmless(given), token));
    }

    /** Of what a client sends when it connects: settings that are allowed. Its drivers send others, which do nothing. */
    private Map harmless(Map given) throws HiveSQLException {
        Map kept = new HashMap();
        for (Iterator each = (given == null ? kept : given).entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            String key = (String) entry.getKey();
            if ("use:database".equals(key)) {
                if (!gate.isSchema(Collections.singletonList(entry.getValue()))) {
                    throw new HiveSQLException("refused: the only schema here is " + gate.schema);
                }
            } else if (key.startsWith("set:hiveconf:") && gate.allows("settings", key.substring(13))) {
                kept.put(key, entry.getValue());
            }
        }
        return kept;
    }

    private SessionHandle opened(SessionHandle handle) {
        SparkSession session = session(handle);
        session.catalog().setCurrentDatabase(gate.schema);
        session.conf().set("spark.sql.thriftserver.scheduler.pool", handle.getHandleIdentifier().toString());
        return handle;
    }

    private SparkSession session(SessionHandle handle) {
        SparkSQLOperationManager manager = (SparkSQLOperationManager) getSessionManager().getOperationManager();
        return (SparkSession) manager.sessionToContexts().get(handle);
    }

    /** What is to be answered, if it is allowed. */
    private String judged(SessionHandle handle, String statement) throws HiveSQLException {
        getSessionManager().getSession(handle);
        if (statement.length() > LONGEST_STATEMENT) {
            throw new HiveSQLException("refused: a statement has at most " + LONGEST_STATEMENT + " characters", "42000");
        }
        if (depth(statement) > DEEPEST_STATEMENT) {
            throw new HiveSQLException("refused: brackets stand in each other at most " + DEEPEST_STATEMENT + " deep",
                "42000");
        }
        org.apache.spark.sql.classic.SparkSession session = (org.apache.spark.sql.classic.SparkSession) session(handle);
        try {
            Statement judged = new Statement(gate);
            LogicalPlan parsed = session.sessionState().sqlParser().parsePlan(statement);
            if (Size.of(parsed, Collections.emptyMap()) > Size.MOST) {
                throw new Refused("refused: with all of its names written out this query is too long");
            }
            judged.judge(parsed);
            return judged.instead == null ? statement : judged.instead;
        } catch (Refused refused) {
            throw new HiveSQLException(refused.getMessage(), "42000");
        } catch (Error wrong) {  // the stack, or the memory: it would end this thread, and the client would wait for ever
            throw new HiveSQLException("refused: this statement is too much to read", "42000");
        } catch (Exception wrong) {
            throw new HiveSQLException(String.valueOf(wrong.getMessage()).trim().split("\n")[0], "42000");
        }
    }

    /** How deep brackets stand in each other, those in texts too: Spark's parser goes down as deep. */
    private static int depth(String statement) {
        int deepest = 0;
        int depth = 0;
        for (int at = 0; at < statement.length(); at++) {
            char sign = statement.charAt(at);
            depth += sign == '(' ? 1 : sign == ')' ? -1 : 0;
            deepest = Math.max(deepest, depth);
        }
        return deepest;
    }

    public OperationHandle executeStatement(SessionHandle session, String statement, Map overlay)
            throws HiveSQLException {
        return executeStatement(session, statement, overlay, 0);
    }

    /** In the background as well, where it can be ended, and wait for it. */
    public OperationHandle executeStatement(SessionHandle session, String statement, Map overlay, long timeout)
            throws HiveSQLException {
        OperationHandle handle = executeStatementAsync(session, statement, overlay, timeout);
        Operation operation = getSessionManager().getOperationManager().getOperation(handle);
        try {
            operation.getBackgroundHandle().get();
        } catch (CancellationException over) {
            // Its state says why.
        } catch (ExecutionException wrong) {
            // Its state says what.
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
        HiveSQLException wrong = operation.getStatus().getOperationException();
        if (wrong != null) {
            closeOperation(handle);
            throw wrong;
        }
        return handle;
    }

    public OperationHandle executeStatementAsync(SessionHandle session, String statement, Map overlay)
            throws HiveSQLException {
        return executeStatementAsync(session, statement, overlay, 0);
    }

    public OperationHandle executeStatementAsync(SessionHandle session, String statement, Map overlay, long timeout)
            throws HiveSQLException {
        String asked = judged(session, statement);
        return super.executeStatementAsync(session, asked, new HashMap(), timeout);
    }

    /** Some of the next rows, whatever a client asks for: about as many bytes each time, once their size is known. */
    public TRowSet fetchResults(OperationHandle handle, FetchOrientation orientation, long rows, FetchType type)
            throws HiveSQLException {
        Long known = (Long) portions.get(handle);
        long most = known == null ? 1 : known.longValue();
        long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        TRowSet found = inTime(handle, orientation, Math.min(rows, most), type);
        long took = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        long fitting = Math.min(most * 10, most * FETCHED_BYTES / Math.max(took, 1));
        if (portions.size() > REMEMBERED) {  // of those who left without closing them
            portions.clear();
        }
        portions.put(handle, Long.valueOf(Math.max(1, Math.min(FETCHED_ROWS, fitting))));
        return found;
    }

    private TRowSet inTime(OperationHandle handle, FetchOrientation orientation, long rows, FetchType type)
            throws HiveSQLException {
        Ending ending = new Ending(handle);
        if (longestSeconds > 0) {
            clock.schedule(ending, longestSeconds * 1000);
        }
        try {
            return super.fetchResults(handle, orientation, rows, type);
        } catch (HiveSQLException wrong) {
            throw ending.over || String.valueOf(wrong.getMessage()).endsWith("found TIMEDOUT") ? tooLong() : wrong;
        } catch (RuntimeException wrong) {
            throw ending.over ? tooLong() : new HiveSQLException(wrong);
        } finally {
            ending.cancel();
        }
    }

    private HiveSQLException tooLong() {
        return new HiveSQLException("ended: it took longer than " + longestSeconds + " seconds (--timeout)", "57014");
    }

    public void closeOperation(OperationHandle handle) throws HiveSQLException {
        portions.remove(handle);
        super.closeOperation(handle);
    }

    public OperationHandle getSchemas(SessionHandle session, String catalog, String schema) throws HiveSQLException {
        return super.getSchemas(session, null, gate.schema);
    }

    public OperationHandle getTables(SessionHandle session, String catalog, String schema, String table, List types)
            throws HiveSQLException {
        return super.getTables(session, null, gate.schema, table, types);
    }

    public OperationHandle getColumns(SessionHandle session, String catalog, String schema, String table, String column)
            throws HiveSQLException {
        return super.getColumns(session, null, gate.schema, table, column);
    }
}
