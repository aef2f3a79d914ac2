# A Slurm of this machine alone: `. "$TOP/tests/cluster.bash"` after tests/lib.sh. Two nodes, which are two
# slurmd on the loopback interface, without control groups (proctrack/linuxproc) and binding (task/none).
# shellcheck shell=bash

export CLUSTER=$TMP/cluster SLURM_CONF=$TMP/cluster/slurm.conf
host=$(hostname -s)
socket=$(mktemp -d) # munged wants it to be where all may enter

write_cluster() { # PORT: the first of four
    local user
    user=$(id -un)
    mkdir -p "$CLUSTER"/state "$CLUSTER"/tmp.node1 "$CLUSTER"/tmp.node2
    dd if=/dev/urandom of="$CLUSTER/key" bs=1024 count=1 status=none
    chmod 400 "$CLUSTER/key"
    chmod 755 "$socket"
    : >"$CLUSTER/cgroup.conf"
    cat >"$SLURM_CONF" <<C
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$socket/munge
StateSaveLocation=$CLUSTER/state
SlurmdSpoolDir=$CLUSTER/spool.%n
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmdPidFile=$CLUSTER/slurmd.%n.pid
SlurmctldLogFile=$CLUSTER/slurmctld.log
SlurmdLogFile=$CLUSTER/slurmd.%n.log
TmpFS=$CLUSTER/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=5
KillWait=2
MailProg=/bin/true
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(($1 + 1)) CPUs=2
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$(($1 + 2)) CPUs=2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
}

start_node() { slurmd -f "$SLURM_CONF" -N "$1" 2>/dev/null; }

# A node that is lost: its daemon, and all that it has started.
kill_node() {
    local process
    kill -KILL "$(cat "$CLUSTER/slurmd.$1.pid")"
    for process in $(grep -lazx "SLURMD_NODENAME=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        ! grep -qazxF "SLURM_CONF=$SLURM_CONF" "/proc/$process/environ" 2>/dev/null || kill -KILL "$process"
    done
}

nodes_are_idle() { [ "$(sinfo --noheader --Node --format='%T' 2>/dev/null | sort -u)" = idle ]; }

start_cluster() {
    write_cluster $((20000 + $$ % 10000))
    trap stop_cluster EXIT
    munged --key-file="$CLUSTER/key" --socket="$socket/munge" --pid-file="$CLUSTER/munged.pid" \
        --log-file="$CLUSTER/munged.log" --seed-file="$CLUSTER/seed" || return
    slurmctld -f "$SLURM_CONF" 2>/dev/null || return
    start_node node1 && start_node node2 && wait_for nodes_are_idle
}

stop_cluster() {
    local file
    for file in "$CLUSTER"/*.pid; do
        [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null
    done
    sleep 0.5
    rm -rf "$socket"
}
