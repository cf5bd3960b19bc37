import type en from "../en/sign-in";
import type { Same } from "../texts";

const texts: Same<typeof en> = {
  title: "Kubehenge",
};
export default texts;
