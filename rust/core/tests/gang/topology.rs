//! Required and preferred domains.

use crate::scene::Scene;
use podium_core::gang::Group;
use podium_core::snapshot::PodId;
use serde_json::json;

/// Racks with so many nodes of 2 CPUs each.
fn racks(scene: &mut Scene, sizes: &[usize]) {
    for (rack, size) in sizes.iter().enumerate() {
        for at in 0..*size {
            let name = format!("r{rack}-{at}");
            scene.node(
                &name,
                json!({"cpu": "2"}),
                json!({"rack": format!("r{rack}")}),
            );
        }
    }
}

fn group(
    scene: &mut Scene,
    members: usize,
    preferred: bool,
) -> (podium_core::gang::GroupId, Vec<PodId>) {
    let pods: Vec<PodId> = (0..members)
        .map(|_| scene.pod(json!({"cpu": "1"}), json!({})))
        .collect();
    let mut group = Group::default();
    group.min = members;
    group.may_preempt = true;
    group.together = scene.together("rack", preferred);
    let with_roles: Vec<_> = pods.iter().map(|pod| (*pod, 0)).collect();
    (scene.gang_with(group, &with_roles), pods)
}

fn racks_of(scene: &Scene, pods: &[PodId]) -> Vec<String> {
    let nodes = &scene.engine.snap.nodes;
    let name = |row: &Option<u32>| {
        let row = row.expect("a placed pod");
        scene.engine.snap.interner.text(nodes.name(row))[..2].to_owned()
    };
    let mut racks: Vec<String> = scene.rows(pods).iter().map(name).collect();
    racks.sort_unstable();
    racks.dedup();
    racks
}

#[test]
fn the_tightest_domain_that_fits_is_taken() {
    let mut scene = Scene::new();
    racks(&mut scene, &[4, 1, 2]);
    let (gang, pods) = group(&mut scene, 4, false);
    assert!(scene.engine.place_group(gang, 0).1.is_none());
    assert_eq!(racks_of(&scene, &pods), ["r2"]);
}

#[test]
fn a_required_domain_is_never_left() {
    let mut scene = Scene::new();
    racks(&mut scene, &[2, 2]);
    let (gang, _) = group(&mut scene, 5, false);
    let shortage = scene
        .engine
        .place_group(gang, 0)
        .1
        .expect("no rack has room");
    assert_eq!(shortage.placeable, 4);
    assert!(shortage.domain.starts_with('r'));
}

#[test]
fn a_preferred_domain_gives_way() {
    let mut scene = Scene::new();
    racks(&mut scene, &[2, 2, 3]);
    let (gang, pods) = group(&mut scene, 8, true);
    assert!(scene.engine.place_group(gang, 0).1.is_none());
    assert_eq!(racks_of(&scene, &pods).len(), 2);
}

#[test]
fn a_replacement_goes_where_the_others_are() {
    let mut scene = Scene::new();
    racks(&mut scene, &[1, 2]);
    let (gang, pods) = group(&mut scene, 3, false);
    assert!(scene.engine.place_group(gang, 0).1.is_none());
    scene.engine.forget(pods[1]);
    assert!(scene.engine.place_group(gang, 0).1.is_none());
    assert_eq!(racks_of(&scene, &pods), ["r1"]);
}

#[test]
fn without_a_domain_nothing_is_placed_and_the_key_is_named() {
    let mut scene = Scene::new();
    let row = scene.node("a", json!({"cpu": "8"}), json!({}));
    let members: Vec<PodId> = (0..2)
        .map(|_| scene.pod(json!({"cpu": "1"}), json!({})))
        .collect();
    let mut group = Group::default();
    group.min = 2;
    group.together = scene.together("zone", false);
    let gang = scene.gang_with(group, &[(members[0], 0), (members[1], 0)]);
    let (places, shortage) = scene.engine.place_group(gang, 0);
    let shortage = shortage.expect("there is no zone");
    assert_eq!(
        (places.len(), &*shortage.message),
        (0, "no node has a value of zone")
    );
    assert_eq!(shortage.plugins, ["Gang"]);
    // A member that runs there already, from before the node lost its label, has nowhere to draw others to.
    scene.engine.snap.place(members[0], row);
    let (places, shortage) = scene.engine.place_group(gang, 0);
    let shortage = shortage.expect("there is no zone");
    assert_eq!(
        (places.len(), &*shortage.message),
        (0, "the members' nodes have no value of zone")
    );
}
