# Makes the wrappers of runtime/mpi/calls: each fills a struct pm_mpi_call from the arguments of its
# call, and stands under the call's own name and its name of the profiling interface, which Open
# MPI's Fortran calls.

BEGIN {
    type["argc"] = "int *"; type["argv"] = "char ***"; type["info"] = "MPI_Info "; type["op"] = "MPI_Op "
    type["bbuf"] = type["rbuf"] = "void *"; type["sbuf"] = "const void *"
    type["stype"] = type["rtype"] = "MPI_Datatype "; type["comm"] = "MPI_Comm "; type["win"] = "MPI_Win "
    type["stypes"] = type["rtypes"] = "const MPI_Datatype *"
    type["dest"] = type["source"] = type["root"] = type["tag"] = type["rtag"] = type["n"] = "int "
    type["request"] = type["requests"] = "MPI_Request *"; type["message"] = "MPI_Message *"
    type["status"] = type["statuses"] = "MPI_Status *"
    type["index"] = type["flag"] = type["outcount"] = type["indices"] = "int *"
    type["newcomm"] = type["oldcomm"] = "MPI_Comm *"; type["newwin"] = type["oldwin"] = "MPI_Win *"
    type["sdispls_w"] = type["rdispls_w"] = "const MPI_Aint *"
    # In a call with large counts these have other types.
    n_large = split("scount rcount tcount unit scounts rcounts sdispls rdispls", large_roles)
    for (i = 1; i <= n_large; i++)
        is_large_role[large_roles[i]] = 1

    n_fields = split("comm win dest source root tag rtag request requests n index flag outcount" \
        " indices message newcomm oldcomm newwin oldwin", fields)
    for (i = 1; i <= n_fields; i++)
        field[fields[i]] = fields[i]
    field["bbuf"] = field["sbuf"] = "send.at"; field["scount"] = "send.count"; field["stype"] = "send.type"
    field["scounts"] = "send.counts"; field["stypes"] = "send.types"
    field["rbuf"] = "receive.at"; field["rcount"] = "receive.count"; field["rtype"] = "receive.type"
    field["rcounts"] = "receive.counts"; field["rtypes"] = "receive.types"
    field["status"] = "status"; field["statuses"] = "statuses"
    otherwise["comm"] = "MPI_COMM_NULL"; otherwise["win"] = "MPI_WIN_NULL"
    otherwise["dest"] = otherwise["source"] = otherwise["root"] = "PM_MPI_NO_RANK"
    otherwise["tag"] = otherwise["rtag"] = "PM_MPI_NO_RANK"
    otherwise["send.type"] = otherwise["receive.type"] = "MPI_DATATYPE_NULL"

    print "/* Made by wrappers.awk from the table of calls. */"
    print "#include \"runtime/mpi/call.h\"\n"
}

function type_of(role, large) {
    if (role in is_large_role) {
        if (role ~ /displs/)
            return large ? "const MPI_Aint *" : "const int *"
        if (role ~ /counts/)
            return large ? "const MPI_Count *" : "const int *"
        return !large ? "int " : role == "unit" ? "MPI_Aint " : "MPI_Count "
    }
    return type[role]
}

function wrap(name, does, volume, large,    i, role, given, parameters, arguments, passed, sets, at, has, full) {
    full = name (large ? "_c" : "")
    for (i = 4; i <= NF; i++) {
        role = $i
        if (split($i, given, ":") == 2) {
            role = given[2]
            gsub("_int", " int", given[1]); gsub("_void", " void", given[1])
            at = given[1]
            sub(/\[\]$/, " *", at); sub(/\*$/, " *", at); gsub(/  /, " ", at)
            at = at (at ~ /\*$/ ? "" : " ") role
        } else {
            at = type_of(role, large) role
            if (role in field) {
                sets = sets ", ." field[role] " = " role
                has[field[role]] = 1
                if (role == "statuses")
                    sets = sets ", .has_statuses = true"
            }
        }
        parameters = parameters ", " at
        arguments = arguments ", " role
        passed = passed ", " (role == "status" || role == "statuses" ? "call." role : role)
    }
    for (i in otherwise)
        if (!(i in has))
            sets = sets ", ." i " = " otherwise[i]
    parameters = parameters == "" ? "void" : substr(parameters, 3)
    arguments = substr(arguments, 3); passed = substr(passed, 3)
    print "static inline __attribute__((always_inline)) int wrap_" full "(__typeof__(&MPI_" full ") original,"
    print "    const char *callee, const void *frame" (parameters == "void" ? "" : ", " parameters) ") {"
    print "    if (!pm_mpi_enter(PM_DOES_" toupper(does) "))"
    print "        return original(" arguments ");"
    print "    struct pm_mpi_call call = {.does = PM_DOES_" toupper(does) ", .volume = PM_VOLUME_" toupper(volume) \
        ", .operation = " (does in no_operation ? "PM_N_OPERATIONS" : "PM_MPI_" name) ", .is_large = " (large ? "true" : "false") \
        ", .callee = callee, .frame = frame" sets "};"
    print "    pm_mpi_before(&call);"
    print "    return pm_mpi_after(&call, original(" passed "));"
    print "}"
    export("MPI_" full, full, parameters, arguments, "")
    export("PMPI_" full, full, parameters, arguments,
        "    if (pm_mpi_is_library(__builtin_return_address(0)))\n        return original(" arguments ");\n")
}

function export(symbol, full, parameters, arguments, check) {
    print "PM_EXPORT int " symbol "(" parameters ") {"
    print "    static __typeof__(&MPI_" full ") next;"
    print "    __typeof__(&MPI_" full ") original = PM_MPI_NEXT(next, \"" symbol "\");"
    printf "%s", check
    print "    return wrap_" full "(original, \"MPI_" full "\", __builtin_frame_address(0)" \
        (arguments == "" ? "" : ", " arguments) ");"
    print "}\n"
}

BEGIN {
    split("init finalize starts frees_request frees_comm", without)
    for (i in without)
        no_operation[without[i]] = 1
}

/^#/ || NF == 0 { next }
{
    name = $1
    needs_4 = sub(/^4:/, "", name)
    has_large = $0 ~ / ([srt]counts?|unit)( |$)/
    if (needs_4)
        print "#if MPI_VERSION >= 4"
    wrap(name, $2, $3, 0)
    if (has_large) {
        if (!needs_4)
            print "#if MPI_VERSION >= 4"
        wrap(name, $2, $3, 1)
    }
    if (needs_4 || has_large)
        print "#endif\n"
}
