import common from "./common";
import shell from "./shell";
import signIn from "./sign-in";
import home from "./home";
import clusters from "./clusters";
import newCluster from "./new-cluster";
import cluster from "./cluster";
import clusterNodes from "./cluster-nodes";
import clusterChanges from "./cluster-changes";
import clusterAccess from "./cluster-access";
import clusterEvents from "./cluster-events";
import clusterFile from "./cluster-file";
import changePlan from "./change-plan";
import deleting from "./delete";
import repository from "./repository";
import capacity from "./capacity";
import audit from "./audit";
import notFound from "./not-found";
import server from "./server";

/** Every text of the page, by section; a section a page, so that each has its own file. */
export default {
  common,
  shell,
  signIn,
  home,
  clusters,
  newCluster,
  cluster,
  clusterNodes,
  clusterChanges,
  clusterAccess,
  clusterEvents,
  clusterFile,
  changePlan,
  delete: deleting,
  repository,
  capacity,
  audit,
  notFound,
  server,
};
