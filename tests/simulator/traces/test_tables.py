"""openb and philly: what the columns become, and what a malformed row says."""

from collections import Counter
from pathlib import Path

import pytest
from podium.errors import InputError
from podium.simulator.traces import load

DATA = Path(__file__).parents[4] / "shared" / "data"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,4000,1024,2,T4\nn1,8000,2048,0,\n"
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "p0,1000,512,2,1000,T4|A10|T4,LS,Running,5,105,15\n"
    "p1,1000,512,1,460,,BE,Pending,7,9,\n"
    "p2,1000,512,0,0,,LS,Running,0,10,0\n"
    "p3,1000,512,0,0,,LS,Running,8,10,8\n"
)

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


def openb(folder: Path, nodes: str = NODES, pods: str = PODS) -> str:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "pods.csv").write_text(pods)
    return f"openb:{folder / 'nodes.csv'},{folder / 'pods.csv'}"


def test_openb_nodes(tmp_path: Path) -> None:
    gpu, plain = (e.manifest for e in load(openb(tmp_path)).entries[:2])
    assert gpu["status"]["allocatable"] == {
        "cpu": "4000m",
        "memory": "1024Mi",
        "pods": "1001",
        "alibabacloud.com/gpu-milli": "2000",
    }
    assert gpu["metadata"]["labels"]["alibabacloud.com/gpu-card-model"] == "T4"
    assert plain["status"]["allocatable"] == {"cpu": "8000m", "memory": "2048Mi", "pods": "1001"}
    assert "alibabacloud.com/gpu-card-model" not in plain["metadata"]["labels"]


def test_openb_pods(tmp_path: Path) -> None:
    p0, p1, p2, p3 = load(openb(tmp_path)).entries[2:]
    assert p0.identity == ("Pod", "default", "p0")
    resources = p0.manifest["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "1000m", "memory": "512Mi", "alibabacloud.com/gpu-milli": "2000"}
    assert resources["limits"] == {"alibabacloud.com/gpu-milli": "2000"}
    terms = p0.manifest["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms["nodeSelectorTerms"][0]["matchExpressions"] == [
        {"key": "alibabacloud.com/gpu-card-model", "operator": "In", "values": ["T4", "A10"]}
    ]
    assert (p0.arrives, p0.departs, p0.runs) == (5.0, 105.0, (90.0,))
    assert (p1.arrives, p1.departs, p1.runs) == (7.0, 9.0, ())
    assert (
        p1.manifest["spec"]["containers"][0]["resources"]["requests"]["alibabacloud.com/gpu-milli"] == "460"
    )
    assert p2.manifest["spec"] is p3.manifest["spec"]
    assert p0.source.endswith("pods.csv:2")


def test_openb_without_times(tmp_path: Path) -> None:
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,1,0,0\n"
    entry = load(openb(tmp_path, pods=pods)).entries[-1]
    assert (entry.arrives, entry.departs, entry.runs) == (0.0, None, ())


def test_the_queue_keeps_the_file_order_and_the_timeline_sorts_it(tmp_path: Path) -> None:
    trace = load(openb(tmp_path))
    assert [e.identity[2] for e in trace.queue()] == ["n0", "n1", "p0", "p1", "p2", "p3"]
    assert [e.identity[2] for e in trace.timeline()] == ["n0", "n1", "p2", "p0", "p1", "p3"]


@pytest.mark.parametrize(
    ("nodes", "pods", "message"),
    [
        (NODES, PODS.replace("p1,1000", "p1,-3"), "pods.csv:3: column cpu_milli is '-3'"),
        (NODES, PODS.replace("p1,1000", "p1,1e3"), "pods.csv:3: column cpu_milli is '1e3'"),
        (NODES, PODS.replace(",460,", ",1460,"), "pods.csv:3: column gpu_milli is 1460, a GPU has 1000"),
        (
            NODES,
            PODS.replace("5,105", "5,4"),
            "pods.csv:2: column deletion_time is 4, before the creation at 5",
        ),
        (NODES, PODS.replace("7,9", "soon,9"), "pods.csv:3: column creation_time is 'soon'"),
        (NODES, PODS.replace("p1,1000", "p1"), "pods.csv:3: 10 columns, the header has 11"),
        (NODES, PODS.replace("num_gpu", "gpus"), "pods.csv:1: no column num_gpu"),
        (NODES, "", "pods.csv:1: no column name"),
        (NODES, PODS.replace("p1,1", '"p1,1'), "not CSV"),
        (NODES.replace(",T4", ","), PODS, "nodes.csv:2: column model is empty, the node has 2 GPUs"),
        (NODES.replace("n1,", ","), PODS, "nodes.csv:3: column sn is empty"),
    ],
)
def test_malformed_rows_say_where(tmp_path: Path, nodes: str, pods: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(openb(tmp_path, nodes, pods))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreadable_files_and_formats(tmp_path: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(bytes(range(256)) * 10)
    for argument, message in [
        (f"philly:{tmp_path / 'none.csv'}", "none.csv: cannot be read: No such file"),
        (f"philly:{tmp_path}", "cannot be read: Is a directory"),
        (f"philly:{junk}", "junk: not a text file: byte 128"),
        (f"openb:{junk}", "expected two files"),
        ("borg:x.csv", "unknown trace format 'borg', the formats are openb, philly, sktrace"),
        ("openb", "expected FORMAT:PATH"),
    ]:
        with pytest.raises(InputError) as caught:
            load(argument)
        assert message in str(caught.value)


def test_philly_jobs_become_gangs(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text(
        "job_id,vc,job_type,num_gpu,arrival_s,total_steps,approx_v100_s\n"
        "7,0e4a51,ResNet-18 (batch size 32),1,3,100,12.5\n"
        "8,11cb48,Transformer,4,6,100,\n"
    )
    entries = load(f"philly:{file}").entries
    assert [e.identity[1:] for e in entries] == [
        ("0e4a51", "job-7"),
        *(("11cb48", f"job-8-{i}") for i in range(4)),
    ]
    single, member = entries[0].manifest["metadata"], entries[1].manifest["metadata"]
    assert "gang.example.com/name" not in single["labels"]
    assert single["annotations"]["podium.dev/run-time"] == "12.5s"
    assert member["labels"]["gang.example.com/name"] == "job-8"
    assert member["annotations"]["gang.example.com/min-available"] == "4"
    assert "podium.dev/run-time" not in member["annotations"]
    assert (entries[0].arrives, entries[0].runs, entries[1].arrives, entries[1].runs) == (
        3.0,
        (12.5,),
        6.0,
        (None,),
    )
    assert len({id(e.manifest["spec"]) for e in entries}) == 1


@pytest.mark.parametrize(("row", "column"), [("7,a,x,0,3,1,", "num_gpu"), ("7,a,x,1,,1,", "arrival_s")])
def test_malformed_philly_rows(tmp_path: Path, row: str, column: str) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text(f"job_id,vc,job_type,num_gpu,arrival_s,total_steps,approx_v100_s\n{row}\n")
    with pytest.raises(InputError, match=rf"jobs.csv:2: column {column} is"):
        load(f"philly:{file}")


@needs_data
def test_the_real_openb_files() -> None:
    nodes = DATA / "openb" / "openb_node_list_all_node.csv"
    expected = {"default": 8152, "gpuspec33": 8152, "multigpu50": 9061, "gpushare100": 8152, "cpu250": 9420}
    for name, pods in expected.items():
        entries = load(f"openb:{nodes},{DATA}/openb/openb_pod_list_{name}.csv").entries
        assert Counter(e.identity[0] for e in entries) == {"Node": 1523, "Pod": pods}
        amounts = [e.manifest["status"]["allocatable"] for e in entries if e.identity[0] == "Node"]
        assert sum(int(a.get("alibabacloud.com/gpu-milli", 0)) for a in amounts) == 6_212_000
    gpuspec = load(f"openb:{nodes},{DATA}/openb/openb_pod_list_gpuspec33.csv").entries
    assert sum("affinity" in e.manifest.get("spec", {}) for e in gpuspec) == 2388


@needs_data
def test_the_real_philly_file() -> None:
    entries = load(f"philly:{DATA}/philly-gavel/philly_gavel_seed0.csv").entries
    assert len({e.identity[1] for e in entries}) == 15
    assert len({(e.identity[1], e.manifest["metadata"]["labels"]["job"]) for e in entries}) == 15264
