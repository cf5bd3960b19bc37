import type en from "../en/audit";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Kubehenge",
};
export default texts;
