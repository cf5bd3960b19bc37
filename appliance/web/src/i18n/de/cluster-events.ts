import type en from "../en/cluster-events";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Kubehenge",
};
export default texts;
