"""What clients of the SQL endpoint may say: names of Spark's classes and functions. Whatever is not here is refused."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


STATEMENTS = words(
    """
    Aggregate CTERelationDef CTERelationRef Distinct Except Filter GlobalLimit Intersect Join LateralJoin LocalLimit
    LocalRelation Offset OneRowRelation Pivot Project RepartitionByExpression Sample Sort SubqueryAlias Union
    Unpivot Generate UnresolvedHaving UnresolvedHint UnresolvedInlineTable UnresolvedOrderBy UnresolvedRelation
    UnresolvedSubqueryColumnAliases UnresolvedTableValuedFunction UnresolvedTVFAliases UnresolvedWith Window
    WithWindowDefinition

    CurrentNamespace DescribeColumn DescribeQueryCommand DescribeRelation ExplainCommand SetCatalogAndNamespace
    SetCommand ShowColumns ShowFunctions ShowNamespaces ShowTables ShowViews UnresolvedNamespace
    UnresolvedTableOrView
    """
)
"""What a statement may consist of, as Spark's parser makes it: queries, and questions about what is served."""

OPERATORS = words(
    """
    Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join
    LateralJoin LocalLimit LocalRelation LogicalRelation Offset OneRowRelation Project Range RepartitionByExpression
    Sample Sort SQLFunctionNode SubqueryAlias Union Window WithCTE

    CommandResult DescribeColumn DescribeColumnCommand DescribeQueryCommand DescribeRelation DescribeTableCommand
    ExplainCommand ResolvedNamespace SetCatalogAndNamespace SetCommand ShowColumns ShowColumnsCommand ShowFunctions
    ShowFunctionsCommand ShowNamespaces ShowNamespacesCommand ShowTables ShowTablesCommand ShowViews
    ShowViewsCommand
    """
)
"""What a plan may consist of once all of its names are looked up."""

EXPRESSIONS = words(
    """
    Add Alias And AnyValue AttributeReference BaseGroupingSets BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen
    Cast Concat Contains CreateNamedStruct Cube CurrentDate CurrentRow CurrentTime CurrentTimestamp CurrentUser
    Divide EndsWith EqualNullSafe EqualTo Exists Extract First FunctionTableSubqueryArgumentExpression GreaterThan
    GreaterThanOrEqual GroupingAnalytics GroupingSets ILike ILikeAll ILikeAny In InSubquery IntegralDivide IsNotNull
    IsNull LambdaFunction Last LateralSubquery LessThan LessThanOrEqual Like LikeAll LikeAny ListQuery Literal
    LocalTimestamp MakeInterval MultiAlias Multiply NamePlaceholder NamedArgumentExpression Not NotLikeAll
    NotLikeAny Or Overlay RLike RangeFrame Remainder Rollup RowFrame ScalarSubquery ShiftLeft ShiftRight
    ShiftRightUnsigned SortOrder SpecifiedWindowFrame StartsWith StringLocate StringTrim StringTrimBoth
    StringTrimLeft StringTrimRight Substring Subtract TimestampAdd TimestampDiff UnaryMinus UnaryPositive
    UnboundedFollowing UnboundedPreceding UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue
    UnresolvedNamedLambdaVariable UnresolvedOrdinal UnresolvedRegex UnresolvedStar UnresolvedStarExceptOrReplace
    UnresolvedSubqueryColumnAliases UnresolvedWindowExpression UnspecifiedFrame WindowExpression
    WindowSpecDefinition WindowSpecReference
    """
)
"""What else than a call of a function may stand in a statement."""

FUNCTIONS = words(
    """
    abs acos acosh add_months aggregate and any any_value approx_count_distinct approx_percentile array array_agg
    array_append array_compact array_contains array_distinct array_except array_insert array_intersect array_join
    array_max array_min array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh avg base64 between bigint bin binary
    bit_and bit_count bit_get bit_length bit_or bit_xor bool_and bool_or boolean bround btrim cardinality cast cbrt
    ceil ceiling char char_length character_length chr coalesce collate collation collect_list collect_set concat
    concat_ws contains conv convert_timezone corr cos cosh cot count count_if count_min_sketch covar_pop covar_samp
    crc32 csc cume_dist curdate current_catalog current_database current_date current_schema current_time
    current_timestamp current_timezone current_user date date_add date_diff date_format date_from_unix_date
    date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal
    decode degrees dense_rank div double e element_at elt encode endswith equal_null every exists exp explode
    explode_outer expm1 extract factorial filter find_in_set first first_value flatten float floor forall
    format_number format_string from_csv from_json from_unixtime from_utc_timestamp get get_json_object getbit
    greatest grouping grouping_id hash hex histogram_numeric hour hypot if ifnull ilike in initcap inline
    inline_outer instr int is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys
    json_tuple kurtosis lag last last_day last_value lcase lead least left len length levenshtein like listagg ln
    localtimestamp locate log log10 log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval make_interval
    make_time make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat
    map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask
    max max_by md5 mean median min min_by minute mod mode month monthname months_between named_struct nanvl negative
    next_day not now nth_value ntile nullif nullifzero nvl nvl2 octet_length or overlay parse_json parse_url
    percent_rank percentile percentile_approx percentile_cont percentile_disc pi pmod posexplode posexplode_outer
    position positive pow power printf quarter radians rand randn random rank reduce regexp regexp_count
    regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right rint rlike
    round row_number rpad rtrim schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg sec second
    sequence session_user sha sha1 sha2 shiftleft shiftright shiftrightunsigned shuffle sign signum sin sinh size
    skewness slice smallint some sort_array soundex space split split_part sqrt stack startswith std stddev
    stddev_pop stddev_samp str_to_map string string_agg struct substr substring substring_index sum tan tanh time
    time_diff time_trunc timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint to_binary to_char
    to_csv to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    to_utc_timestamp to_varchar to_variant_object transform transform_keys transform_values translate trim trunc
    try_add try_avg try_divide try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz
    try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract try_sum try_to_binary
    try_to_date try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof
    ucase unbase64 unhex uniform unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode
    url_encode user uuid validate_utf8 var_pop var_samp variance variant_explode variant_explode_outer variant_get
    weekday weekofyear width_bucket window xxhash64 year zeroifnull zip_with
    """
)
"""Functions of nothing but their arguments: no files, classes, addresses or settings."""

CONSTANTS = words(
    """
    add_months array bigint boolean cast coalesce current_date current_timestamp date date_add date_sub date_trunc
    dateadd decimal double float int localtimestamp make_date make_interval make_timestamp map named_struct now
    smallint string struct timestamp tinyint to_date to_timestamp
    """
)
"""Functions whose values Spark may work out while it plans a query: in ``VALUES``, ``LIMIT``, ``OFFSET``, ``range``."""

TABLE_FUNCTIONS = words("explode explode_outer inline inline_outer posexplode posexplode_outer range stack")
"""Functions that give rows, besides those of ``schemas.views``."""

SETTINGS = frozenset({"spark.sql.session.timeZone"})
"""What clients may set, each in their own session."""
