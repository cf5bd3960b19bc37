import type en from "../en/delete";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Kubehenge",
};
export default texts;
