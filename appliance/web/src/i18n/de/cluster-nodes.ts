import type en from "../en/cluster-nodes";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Kubehenge",
};
export default texts;
