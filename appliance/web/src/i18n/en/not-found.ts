import type { Section } from "../texts";

export default {
  title: "Not found",
  clusters: "Clusters",
  noPage: "There is no such page",
  noPageHint: "The address {path} leads nowhere.",
  noCluster: "There is no cluster {cluster}, or you may not see it",
  noClusterHint: "Seeing a cluster needs VM.Audit on its pool in Proxmox VE.",
  clustersYouSee: "Clusters you can see",
  home: "Home",
  command: "the command",
  askToRun: "Ask someone who manages permissions in Proxmox VE to run this:",
  helps: "What helps",
  orClick: "Or under Datacenter, Permissions, Add. It takes effect here within 30 seconds.",
} as const satisfies Section;
